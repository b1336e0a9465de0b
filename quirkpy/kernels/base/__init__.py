"""Arrays and their columns, small vectors and matrices, and what compiles them."""
