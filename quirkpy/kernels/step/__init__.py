"""Steps in time: methods, projection, the ledger of energy, events, impacts, and the loop around
them."""
