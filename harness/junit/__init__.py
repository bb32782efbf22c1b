"""JUnit files: reading what runners wrote, and writing one merged file in which no two rows collide."""
