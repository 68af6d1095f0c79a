"""How each embedded method learns, in a module of its name; `config.embedded_methods` says what it can be asked for."""
