package port

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
)

// Ports are chosen below the range that the system gives to outgoing
// connections, so that none of those sits on a killed server's port when the
// server comes back.
const lowest = 10000

// Free returns a port on the loopback device that is free now.
func Free() (int, error) {
	highest := 32767
	if text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range"); err == nil {
		var first, last int
		if _, err := fmt.Sscan(string(text), &first, &last); err == nil && first > lowest+1000 {
			highest = first - 1
		}
	}
	for range 100 {
		if port := lowest + rand.IntN(highest-lowest+1); isFree(port) {
			return port, nil
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("looking for a free port: %w", err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

func isFree(port int) bool {
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return false
	}
	listener.Close()
	return true
}
