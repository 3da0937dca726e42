"""What people look at: for now, tables in the terminal."""
