"""What the subcommands of `harness` print, one module each."""
