// Package operate has the commands for those who look after the tables and the processes that work on them: to make the tables and bring
// them up to date, to change the resolution, to prune, to look for what is wrong, to see which processes work, who keeps whom waiting,
// and who changed what, and to print the rights that an account needs.
package operate
