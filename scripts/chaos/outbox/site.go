package outbox

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
)

// site is a broker that can be broken, and its only consumer.
type site interface {
	// url is where forwarders publish to.
	url() string
	// down takes the broker away at once, as kill -9 does; up brings it back with what it had acknowledged.
	down()
	up(ctx context.Context) error
	// consumed is all that it has, in its order.
	consumed(ctx context.Context) ([]Consumed, error)
	close()
}

// Brokers are the names of those that are started here. There is rabbitmq, too, where a server is given.
func Brokers() []string { return []string{"http", "redis", "nats", "kafka"} }

// openSite starts a broker, with its files in a folder.
func openSite(ctx context.Context, name, dir, rabbitMQ string) (site, error) {
	switch name {
	case "http":
		return openReceiver(ctx)
	case "redis":
		return openRedis(ctx, dir)
	case "nats":
		return openNATS(ctx, dir)
	case "kafka":
		return openKafka(ctx)
	case "rabbitmq":
		return openRabbitMQ(ctx, rabbitMQ)
	}
	return nil, fmt.Errorf("there is no broker %q: there are %s and rabbitmq", name, strings.Join(Brokers(), ", "))
}

// receiver is an app with a webhook, in this process: what it keeps is the checker's.
type receiver struct {
	address string
	server  *http.Server

	mu  sync.Mutex
	got []Consumed
}

func openReceiver(ctx context.Context) (site, error) {
	r := &receiver{address: "127.0.0.1:0"} // a free one that is looked for first may be another's by then
	if err := r.up(ctx); err != nil {
		return nil, err
	}
	return r, nil
}

func (r *receiver) url() string { return "http://" + r.address + "/events" }

func (r *receiver) up(ctx context.Context) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", r.address)
	if err != nil {
		return err
	}
	r.address = listener.Addr().String()
	r.server = &http.Server{Handler: http.HandlerFunc(r.take)}
	go func(s *http.Server) { _ = s.Serve(listener) }(r.server) // it ends when it is taken down
	return nil
}

func (r *receiver) take(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return
	}
	id := request.Header.Get("Prescient-Id")
	if strings.HasPrefix(id, "bad-") {
		w.WriteHeader(http.StatusUnprocessableEntity)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, Consumed{ID: id, Key: request.Header.Get("Prescient-Key"), Body: string(body)})
}

func (r *receiver) down() { _ = r.server.Close() } // with the connections that it has
func (r *receiver) consumed(context.Context) ([]Consumed, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.got, nil
}
func (r *receiver) close() { r.down() }
