// Package operate has the commands for those who look after the tables: to make them and bring them up to date, to change
// the resolution, to prune, to look for what is wrong, and to print the rights that an account needs.
package operate
