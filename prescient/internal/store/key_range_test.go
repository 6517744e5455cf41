package store_test

import (
	"bytes"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"prescient/prescient"
	"prescient/prescient/internal/store"
)

// Bounds of all keys.
var (
	firstKey = prescient.Key{}
	lastKey  = func() (k prescient.Key) {
		for i := range k {
			k[i] = 0xff
		}
		return k
	}()
)

func compareKeys(a, b prescient.Key) int { return bytes.Compare(a[:], b[:]) }

func TestBucketsTogetherHoldEveryKeyExactlyOnce(t *testing.T) {
	numbers := []int{257, 300, 1000, 4096, 65535}
	for n := 1; n <= 256; n++ {
		numbers = append(numbers, n)
	}
	for _, buckets := range numbers {
		expected := new(big.Int).Div(new(big.Int).Lsh(big.NewInt(1), 128), big.NewInt(int64(buckets)))
		slack := new(big.Int).Lsh(big.NewInt(2), 64) // starts are rounded to the first 8 bytes
		next := firstKey
		for bucket := range buckets {
			first, last := store.BucketRange(bucket, buckets)
			if first != next || compareKeys(first, last) > 0 {
				t.Fatalf("bucket %d of %d is %s to %s; want it to begin at %s", bucket, buckets, first, last, next)
			}
			size := new(big.Int).Sub(number(last), number(first))
			if off := new(big.Int).Sub(size, expected); off.CmpAbs(slack) > 0 {
				t.Fatalf("bucket %d of %d holds %s keys; want about %s", bucket, buckets, size, expected)
			}
			var more bool
			if next, more = last.Next(); more != (bucket < buckets-1) {
				t.Fatalf("bucket %d of %d ends at %s", bucket, buckets, last)
			}
		}
	}
}

func TestBucketsOfAShardDivideItsRange(t *testing.T) {
	for target, want := range map[string]string{
		"shop:-80": "00 10 20 30 40 50 60 70", "shop/80-": "80 90 A0 B0 C0 D0 E0 F0", "shop[40-80]": "40 48 50 58 60 68 70 78", "shop:ff-@primary": "FF FF FF FF FF FF FF FF",
		"shop:0": "00 20 40 60 80 A0 C0 E0", "shop:-": "00 20 40 60 80 A0 C0 E0", "shop": "00 20 40 60 80 A0 C0 E0", "shop:no-way": "00 20 40 60 80 A0 C0 E0",
	} {
		keys, next := store.KeysOf(target), firstKey
		for bucket, begins := range strings.Fields(want) {
			first, last := keys.Bucket(bucket, 8)
			if first != next || bucket > 0 && first.String()[:2] != begins || compareKeys(first, last) > 0 {
				t.Errorf("%s: bucket %d is %s to %s; want it to begin at %s, and at %s", target, bucket, first, last, next, begins)
			}
			var more bool
			if next, more = last.Next(); more != (bucket < 7) {
				t.Errorf("%s: bucket %d ends at %s", target, bucket, last)
			}
		}
	}
}

func number(k prescient.Key) *big.Int { return new(big.Int).SetBytes(k[:]) }

func TestKeysAtTheEdgesOfBucketsBelongToOneOfThem(t *testing.T) {
	for _, buckets := range []int{1, 2, 3, 7, 10, 255, 256} {
		keys := []prescient.Key{firstKey, lastKey, {7: 1}, {8: 1}, {15: 1}, {0: 0x7f, 1: 0xff}, {0: 0x80}}
		for range 200 {
			var k prescient.Key
			for i := range k {
				k[i] = byte(rand.Uint32())
			}
			keys = append(keys, k)
		}
		for bucket := range buckets {
			first, last := store.BucketRange(bucket, buckets)
			after, _ := last.Next()
			keys = append(keys, first, last, after)
		}
		for _, k := range keys {
			in := 0
			for bucket := range buckets {
				if first, last := store.BucketRange(bucket, buckets); compareKeys(first, k) <= 0 && compareKeys(k, last) <= 0 {
					in++
				}
			}
			if in != 1 {
				t.Errorf("key %s is in %d of %d buckets", k, in, buckets)
			}
		}
	}
}
