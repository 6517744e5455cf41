// Package group knows the processes of a call, wherever they have gone: those of the group of the program that was started, and those that
// left it, by a mark that they inherit in their environment. It counts them, and ends them. It is for Linux, and reads /proc.
package group
