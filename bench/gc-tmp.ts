import { otherCore, pin, startTarget } from '/work/main/bench/child'
import { startRedis } from '/work/main/bench/redis'
import { prepare } from '/work/main/bench/rounds'
import { servers } from '/work/main/bench/servers'
async function main() {
  pin(process, otherCore)
  const redis = await startRedis(); await redis.client.set('photos','x')
  const [w, n] = process.argv.slice(2)
  const s = servers.find((x) => x.name === n)!
  const r = await startTarget(s, redis.url, ['--trace-gc', ...(process.env.NF ? process.env.NF.split(' ') : [])])
  const p = await prepare(r, (s.stories as any)[w!], 1000)
  await p.run(1500)
  console.log('=====')
  const x = await p.run(2000)
  console.log(x.cpu, x.operations, x.p99)
  p.close(); await r.stop(); redis.stop()
}
void main()
