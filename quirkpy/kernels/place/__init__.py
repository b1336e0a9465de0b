"""Where everything is: frames of bodies and sites, coordinates of joints, constraint rows,
schedules."""
