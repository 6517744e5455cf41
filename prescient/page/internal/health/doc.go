// Package health has the views of what is wrong: what the doctor finds, and who waits for whom in the database.
package health
