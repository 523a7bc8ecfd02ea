import cluster, { type Worker } from 'node:cluster'
import { join } from 'node:path'
import type { Report } from '../target'

type Usage = Extract<Report, { readonly kind: 'usage' }>

// The suite in several processes that share a port, as one target: ready when all are, and it has used up what they have.
const count = Number(process.env['WORKERS'] ?? '2')
cluster.setupPrimary({ exec: join(__dirname, 'ours') })
const workers = Array.from({ length: count }, () => cluster.fork())
// One that is gone would be waited for without end.
cluster.on('exit', () => process.exit(1))

void Promise.all(workers.map((worker) => told(worker, 'ready'))).then(() => process.send?.({ kind: 'ready' }))
process.on('message', (question: string) => {
  const usages = workers.map((worker) => {
    const usage = told(worker, 'usage')
    worker.send(question)
    return usage
  })
  void Promise.all(usages).then((all) => process.send?.(all.reduce(sum)))
})
process.on('disconnect', () => process.exit())

function told<Kind extends Report['kind']>(worker: Worker, kind: Kind) {
  return new Promise<Extract<Report, { kind: Kind }>>((resolve) => {
    const hear = (report: Report) => {
      if (!isOf(report, kind)) return
      worker.off('message', hear)
      resolve(report)
    }
    worker.on('message', hear)
  })
}

const isOf = <Kind extends Report['kind']>(
  report: Report,
  kind: Kind,
): report is Extract<Report, { kind: Kind }> => report.kind === kind

function sum(a: Usage, b: Usage): Usage {
  const of = (key: keyof NodeJS.MemoryUsage) => a.memory[key] + b.memory[key]
  const memory = {
    rss: of('rss'),
    heapTotal: of('heapTotal'),
    heapUsed: of('heapUsed'),
    external: of('external'),
    arrayBuffers: of('arrayBuffers'),
  }
  return { kind: 'usage', cpu: a.cpu + b.cpu, memory }
}
