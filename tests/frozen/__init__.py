"""What users see, recorded: `python -m frozen record|compare`, in `tests`, with another program by `--program PATH`."""
