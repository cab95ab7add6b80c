"""Files and text: bytes to frames, whole or in batches, and the types that cells of text spell."""
