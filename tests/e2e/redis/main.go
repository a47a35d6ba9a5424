// Command redis answers as Redis does, from memory: to the rate-limit server, which counts in one. Its argument is the
// address.
package main

import (
	"log"
	"os"
	"time"

	"github.com/alicebob/miniredis/v2"
)

const tick = 100 * time.Millisecond

func main() {
	server := miniredis.NewMiniRedis()
	if err := server.StartAddr(os.Args[1]); err != nil {
		log.Fatal(err)
	}
	for range time.Tick(tick) {
		server.FastForward(tick) // keys expire by this clock alone
	}
}
