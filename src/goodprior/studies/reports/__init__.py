"""Tables, figures and pages made of stored rows."""
