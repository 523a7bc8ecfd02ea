import { randomInt } from 'node:crypto'
import { report, type Row } from '../../support/reliability/report'
import type { Stage } from './stage'
import { startServers } from './trial'
import { cluster, complaintsOf, rowOf, sentinel, single, tryFault, type CampaignRunner } from './try-faults'

/** Every fault in its long form, as a program. FAULTS_SEED repeats a run, as far as chance allows it. */
async function main(): Promise<void> {
  const seed = Number(process.env['FAULTS_SEED'] ?? randomInt(1_000_000))
  const only = process.env['FAULTS_ONLY'] ?? ''
  process.stdout.write(`seed ${seed}\n`)
  const rows = [
    ...(await play(single, seed, only)),
    ...(await play(cluster, seed, only)),
    ...(await play(sentinel, seed, only)),
  ]
  report('faults', 'npm run test:faults', rows)
}

async function play<S extends Stage>(runner: CampaignRunner<S>, seed: number, only: string): Promise<Row[]> {
  const faults = runner.faults.filter(({ title }) => title.includes(only))
  if (faults.length === 0) return []
  const stage = await runner.start()
  const servers = await startServers(stage.plan)
  const rows: Row[] = []
  try {
    for (const fault of faults) {
      const verdict = await tryFault(fault, stage, servers, { long: true, seed })
      const complaints = complaintsOf(fault, verdict, servers)
      const row = rowOf(fault, verdict, complaints)
      rows.push(row)
      process.stdout.write(`${row.case}: ${row.rounds} requests, ${row.result}\n`)
      for (const complaint of complaints) process.stdout.write(`  ${complaint}\n`)
      if (complaints.length > 0) process.exitCode = 1
    }
  } finally {
    await Promise.all(servers.map((server) => server.kill()))
    await stage.stop()
  }
  return rows
}

void main()
