// Package rowtext writes and reads rows of future_job as text, which no setting of the caller's connection changes.
package rowtext
