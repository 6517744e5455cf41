// Package rig is an installation on a real server for a test, with an account for each role. It sees neither client nor worker, so that
// their own tests can use it.
package rig
