package main

import (
	"context"

	"prescient/scripts/bench/internal/peers"
	"prescient/scripts/bench/internal/rig"
)

var floorSection = rig.Section{
	Name:     "floor",
	NoBinlog: true,
	About:    "what the server itself needs to end rows: one INSERT..SELECT and one DELETE, in one transaction on each of 1, 2 and 4 connections, and in many",
	Run: func(ctx context.Context, b *rig.Bench, s *rig.Server) error {
		return b.OnStage(ctx, s, "floor", peers.Floors())
	},
}
