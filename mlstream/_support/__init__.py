"""What every room may use: files, memory, text formats and messages of errors."""
