// Package rig is an installation on a real server for a test, each part of which works with an account of its role. It sees
// neither client nor worker, so that their own tests can use it.
package rig
