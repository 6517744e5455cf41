// Package campaign has every scenario, and plays them on servers:
//
//	scripts/chaos/run --seed 7 --duration 30s --engine mariadb --scenario kill,freeze
package campaign
