import { startRedisProxy } from './redis-proxy'

export async function startReplyLosingProxy(port: number) {
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
    /** From now on the connection breaks when the next reply comes: its command was carried out without a reply. */
    loseNextReply: () => {
      losing = true
    },
    lostReplies: () => lost,
  }
}
