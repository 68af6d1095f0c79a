"""Whether a run can begin, and what it would lack: told line by line, before anything is asked or paid."""
