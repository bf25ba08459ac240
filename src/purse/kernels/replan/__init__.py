"""The plan of `replan`, and what it reads; policies with contexts take parts of it."""
