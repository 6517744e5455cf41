package outbox

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// kafkaSite is a cluster that speaks Kafka's protocol in this process. It keeps nothing where it is killed: it is taken down by cutting
// each connection that asks for something.
type kafkaSite struct {
	cluster *kfake.Cluster
	cut     atomic.Bool
}

var errCut = errors.New("the network is cut")

func openKafka(context.Context) (site, error) {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(4, topic))
	if err != nil {
		return nil, err
	}
	k := &kafkaSite{cluster: cluster}
	cluster.Control(func(kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		if k.cut.Load() {
			return nil, errCut, true
		}
		return nil, nil, false
	})
	return k, nil
}

func (k *kafkaSite) url() string              { return "kafka://" + strings.Join(k.cluster.ListenAddrs(), ",") }
func (k *kafkaSite) down()                    { k.cut.Store(true) }
func (k *kafkaSite) up(context.Context) error { k.cut.Store(false); return nil }
func (k *kafkaSite) close()                   { k.cluster.Close() }

// consumed is in the order of each partition: all messages of a key are in one.
func (k *kafkaSite) consumed(ctx context.Context) (all []Consumed, err error) {
	client, err := kgo.NewClient(kgo.SeedBrokers(k.cluster.ListenAddrs()...), kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		return nil, err
	}
	defer client.Close()
	left := int64(0)
	for partition := range int32(4) {
		left += k.cluster.PartitionInfo(topic, partition).HighWatermark
	}
	for left > 0 {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return all, err
		}
		fetches.EachRecord(func(r *kgo.Record) {
			left--
			c := Consumed{Key: string(r.Key), Body: string(r.Value)}
			for _, h := range r.Headers {
				if h.Key == "Prescient-Id" {
					c.ID = string(h.Value)
				}
			}
			all = append(all, c)
		})
	}
	return all, nil
}
