// Package rowtext writes and reads rows of future_job as text, which no setting of the caller's connection changes: the columns of a
// row that is read, the values of one that is inserted, and the conditions by which rows are found.
package rowtext
