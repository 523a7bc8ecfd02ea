import { Redis } from 'ioredis'
import type { RedisServer } from '../../support/redis-server'
import { waitUntil } from '../../support/wait-until'

/** A moment: whatever this master acknowledged before it, its replica has. */
export async function acknowledgedBefore(master: RedisServer): Promise<number> {
  const client = new Redis(master.url, { maxRetriesPerRequest: 1 })
  client.on('error', () => {})
  let moment = 0
  try {
    await waitUntil('the replica has caught up', async () => {
      moment = performance.now()
      // WAIT counts from the last write on the same connection. In a cluster some of these keys are of this master.
      for (let number = 0; number < 100; number += 1)
        if (await client.set(`mark:${number}`, '', 'PX', 1000).catch(() => undefined)) break
      return (await client.wait(1, 1000)) >= 1
    })
    return moment
  } finally {
    client.disconnect()
  }
}
