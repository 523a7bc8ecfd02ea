import { connect, createServer, type AddressInfo } from 'node:net'

/** What went through to Redis: commands, and how often somebody waited for an answer. */
export interface Traffic {
  commands: number
  roundTrips: number
}

/** A proxy before Redis that counts. What is sent before the answer to what came before belongs to the same round trip. */
export async function countingProxy(redisPort: number) {
  const traffic: Traffic = { commands: 0, roundTrips: 0 }
  let isAnswered = true
  const server = createServer((client) => {
    const redis = connect(redisPort, '127.0.0.1')
    client.on('data', (sent: Buffer) => {
      traffic.commands += sent.toString('latin1').match(/\*\d+\r\n\$/g)?.length ?? 0
      if (isAnswered) traffic.roundTrips += 1
      isAnswered = false
      redis.write(sent)
    })
    redis.on('data', (answer: Buffer) => {
      isAnswered = true
      client.write(answer)
    })
    for (const [one, other] of [
      [client, redis],
      [redis, client],
    ] as const)
      one.on('close', () => other.destroy()).on('error', () => other.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port }: Pick<AddressInfo, 'port'> = Object.assign({ port: 0 }, server.address())
  return { url: `redis://127.0.0.1:${port}`, traffic, close: () => server.close() }
}
