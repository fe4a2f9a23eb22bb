"""Commands that run studies, reproduce the documents, and open the studio."""
