import { startRedisProxy, type RedisProxy } from './redis-proxy'

interface ReplyLosingProxy extends RedisProxy {
  /** From now on the connection breaks when the next reply comes: its command was carried out without a reply. */
  loseNextReply(): void
  lostReplies(): number
}

export async function startReplyLosingProxy(port: number): Promise<ReplyLosingProxy> {
  let losing = false
  let lost = 0
  const proxy = await startRedisProxy(port, () => ({
    replied: (pass, client) => {
      if (!losing) return pass()
      losing = false
      lost += 1
      client.destroy()
    },
  }))
  return {
    ...proxy,
    loseNextReply: () => {
      losing = true
    },
    lostReplies: () => lost,
  }
}
