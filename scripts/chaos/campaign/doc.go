// Package campaign has every scenario that is known, plays them on servers, and proves that nothing is lost, nothing is
// early, no outcome is committed twice, and what is called twice was in flight when something broke.
//
//	scripts/chaos/run --seed 7 --duration 30s --engine mariadb --scenario kill,freeze
package campaign
