import { connect, createServer, type AddressInfo } from 'node:net'

// A process of its own between a server and Redis: `BENCH_PORT` of Redis, and so many milliseconds that each answer takes longer.
const [redisPort, delay] = [Number(process.env['BENCH_PORT']), Number(process.env['BENCH_DELAY'])]
const server = createServer((client) => {
  const redis = connect(redisPort, '127.0.0.1')
  client.setNoDelay(true)
  redis.setNoDelay(true)
  client.on('data', (sent: Buffer) => void redis.write(sent))
  redis.on('data', (answer: Buffer) => {
    if (delay === 0) client.write(answer)
    else setTimeout(() => client.write(answer), delay)
  })
  for (const [one, other] of [
    [client, redis],
    [redis, client],
  ] as const)
    one.on('close', () => other.destroy()).on('error', () => other.destroy())
})
server.listen(0, '127.0.0.1', () => {
  const { port }: Pick<AddressInfo, 'port'> = Object.assign({ port: 0 }, server.address())
  process.send?.(port)
})
process.on('disconnect', () => process.exit())
