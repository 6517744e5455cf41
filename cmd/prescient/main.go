package main

import "prescient/cmd"

func main() { cmd.Main(cmd.Options{}) }
