"""What a text editor asks while somebody writes: the Language Server Protocol, over the features of the commands."""
