package outbox

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"

	amqp "github.com/rabbitmq/amqp091-go"
)

// rabbitSite is a RabbitMQ that somebody has given, with an exchange and a queue of this run. Others may use the server, so it is the way
// to it that is cut.
type rabbitSite struct {
	*cuttable
	given *url.URL
	name  string // of the exchange and the queue
}

func openRabbitMQ(ctx context.Context, given string) (site, error) {
	u, err := url.Parse(given)
	if given == "" || err != nil || u.Scheme != "amqp" || u.RawQuery != "" {
		return nil, errors.New("RabbitMQ is a server of yours: give --rabbitmq amqp://user:password@host:5672/vhost")
	}
	if u.Port() == "" {
		u.Host = net.JoinHostPort(u.Hostname(), "5672")
	}
	r := &rabbitSite{given: u, name: "chaos-" + rand.Text()}
	err = r.with(func(c *amqp.Channel) error {
		if err := c.ExchangeDeclare(r.name, amqp.ExchangeDirect, true, false, false, false, nil); err != nil {
			return err
		}
		if _, err := c.QueueDeclare(r.name, true, false, false, false, nil); err != nil {
			return err
		}
		return c.QueueBind(r.name, topic, r.name, false, nil)
	})
	if err != nil {
		return nil, err
	}
	if r.cuttable, err = openCuttable(ctx, u.Host); err != nil {
		return nil, errors.Join(err, r.remove())
	}
	return r, nil
}

// with does something on a connection of its own, which nobody cuts.
func (r *rabbitSite) with(do func(c *amqp.Channel) error) error {
	conn, err := amqp.Dial(r.given.String())
	if err != nil {
		return fmt.Errorf("connecting to RabbitMQ: %w", err)
	}
	defer conn.Close()
	channel, err := conn.Channel()
	if err != nil {
		return err
	}
	return do(channel)
}

func (r *rabbitSite) url() string {
	u := *r.given
	u.Host, u.RawQuery = r.address, url.Values{"exchange": {r.name}}.Encode()
	return u.String()
}

func (r *rabbitSite) consumed(context.Context) (all []Consumed, err error) {
	err = r.with(func(c *amqp.Channel) error {
		for {
			d, ok, err := c.Get(r.name, true)
			if err != nil || !ok {
				return err
			}
			all = append(all, Consumed{ID: fmt.Sprint(d.Headers["Prescient-Id"]), Key: fmt.Sprint(d.Headers["Prescient-Key"]), Body: string(d.Body)})
		}
	})
	return all, err
}

func (r *rabbitSite) remove() error {
	return r.with(func(c *amqp.Channel) error {
		_, err := c.QueueDelete(r.name, false, false, false)
		return errors.Join(err, c.ExchangeDelete(r.name, false, false))
	})
}

func (r *rabbitSite) close() {
	r.down()
	_ = r.remove() // what is left there is named chaos-
}
