// What a request costs in one process: Node's HTTP over a connection in memory, a map in place of Redis, and the generator in
// the process of the server. Beside it, what the same requests cost at a bare Express route that reads a form, makes a random
// token and answers.
//
//   npm run cost                           everything with opaque tokens
//   npm run cost -- --signed               signed tokens and guards by introspection
//   npm run cost -- suite refresh guard    these targets and rows alone; the bare route always runs, too
//   npm run cost -- --beside ../before     the suite of another checkout as well, built, in the same turns
//   npm run cost -- --starts 1             fewer processes of each target, each with eight rounds
//   BENCH_NODES=a npm run cost             on this binary of Node
//
// Each figure is the lower quartile of the rounds, in microseconds of processor time for one operation, generator and
// collection of garbage included: disturbances only add. A code flow is an operation of several requests.
import { execFileSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import { setMaxListeners } from 'node:events'
import { parseArgs } from 'node:util'
import { buildTargetsBeside } from './build'
import { otherCore, pin, runTargetsOn, startTarget, type RunningTarget } from './child'
import { atPart } from './figures'
import { programsInProcess, rows, tables, type ProgramInProcess, type Row } from './programs-in-process'
import { signaturesOf } from './measure/signatures'
import { table } from './table'

const roundsOfStart = 8
// Milliseconds of processor time. V8 goes on for seconds until it has compiled what a flow needs.
const warmUp = 3000
const leadIn = 50
const span = 120

interface Target {
  readonly name: string
  /** In targets/, or a path. */
  readonly program: string
  readonly environment: ProgramInProcess['environment']
  readonly rows: readonly Row[]
}

interface Measured {
  readonly row: Row
  readonly target: string
  /** For one operation. */
  readonly requests: number
  readonly rounds: number[]
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    beside: { type: 'string' },
    signed: { type: 'boolean', default: false },
    starts: { type: 'string', default: '3' },
  },
})
const [node = process.execPath] = (process.env['BENCH_NODES'] ?? process.execPath).split(',')
const rowNames = Object.keys(rows).filter(isRow)
const [ours, suite, bare, beside] = ['ours', 'suite', 'bare', 'suite beside'] as const

async function main(): Promise<void> {
  setMaxListeners(0, process)
  pin(process, otherCore)
  runTargetsOn(node)
  const targets = chosenTargets()
  const measured: Measured[] = []
  for (let start = 0; start < Number(values.starts); start += 1) await measure(targets, measured)
  for (const row of rowNames) {
    const ofRow = measured.filter((one) => one.row === row)
    if (ofRow.length > 0) print(row, ofRow)
  }
  if (positionals.length > 0 || values.beside !== undefined) return
  console.log(tableOf(measured))
  if (values.signed) console.log(`\n${signaturesOf(node)}`)
}

/** A row for each target, in Markdown. */
function tableOf(measured: readonly Measured[]): string {
  const cell = (target: string, row: Row) => {
    const [one, reference] = [target, bare].map((name) =>
      measured.find((other) => other.row === row && other.target === name),
    )
    if (one === undefined || reference === undefined) return ''
    const [cost, floor] = [lowerQuartile(one), lowerQuartile(reference)]
    return `${cost.toFixed(cost < 100 ? 1 : 0)} (${(cost / floor).toFixed(2)})`
  }
  const columns = rowNames.filter((row) => row !== 'refresh' || !values.signed)
  const lines = chosenTargets().map(({ name }) => [name].concat(columns.map((row) => cell(name, row))))
  const date = new Date().toISOString().slice(0, 10)
  return [
    `Run on ${date} on Node ${execFileSync(node, ['-p', 'process.versions.node'], { encoding: 'utf8' }).trim()}; ${values.starts === '1' ? 'one process' : `${values.starts} processes`} of each server.`,
    table(['', ...columns], lines),
  ].join('\n\n')
}

/** New processes of all targets, which take turns: V8 may make two processes of one program a fifth apart. */
async function measure(targets: readonly Target[], measured: Measured[]): Promise<void> {
  const running = new Map<Target, RunningTarget>()
  for (const target of targets) running.set(target, await started(target))
  for (let round = 0; round < roundsOfStart; round += 1)
    for (const row of chosenRows())
      for (const [target, process] of running) {
        if (!target.rows.includes(row)) continue
        await process.roundInProcess({ row, milliseconds: leadIn })
        const { cpu, requests } = await process.roundInProcess({ row, milliseconds: span })
        note(measured, { row, target: target.name, requests, rounds: [cpu] })
      }
  for (const process of running.values()) await process.stop()
}

/** Knows all rows when it begins with the first, whichever of them are asked for. */
async function started({ program, environment, rows: rowsOfTarget }: Target): Promise<RunningTarget> {
  const target = await startTarget({ program, environment }, '', ['--expose-gc'])
  for (const row of rowsOfTarget) await target.roundInProcess({ row, milliseconds: warmUp })
  return target
}

function note(measured: Measured[], one: Measured): void {
  const known = measured.find(({ row, target }) => row === one.row && target === one.target)
  if (known === undefined) measured.push(one)
  else known.rounds.push(...one.rounds)
}

function print(row: Row, measured: readonly Measured[]): void {
  const reference = measured.find(({ target }) => target === bare)
  console.log(`${row}, microseconds`)
  console.table(
    measured.map((one) => ({
      target: one.target,
      'lower quartile': rounded(lowerQuartile(one), 1),
      'of the bare route': rounded(lowerQuartile(one) / (reference ? lowerQuartile(reference) : NaN), 2),
      least: rounded(atPart(one.rounds, 0), 1),
      median: rounded(atPart(one.rounds, 0.5), 1),
      rounds: one.rounds.length,
      requests: one.requests,
    })),
  )
}

function chosenTargets(): readonly Target[] {
  const ofTable = new Set(tables[values.signed ? 'signed' : 'cost'])
  const all = Object.entries(programsInProcess)
    .filter(([name]) => ofTable.has(name))
    .map(([name, { program, environment, stories }]): Target => ({
      name: nameOf(name),
      program,
      environment: { ...environment, BENCH_IN_PROCESS: name },
      rows: rowNames.filter((row) => rows[row].some((workload) => stories[workload] !== undefined)),
    }))
  const able = all.filter((target) => target.rows.length > 0)
  const names = positionals.filter((word) => !isRow(word))
  const unknown = names.filter((name) => !able.some((target) => target.name === name))
  if (unknown.length > 0)
    throw new Error(`Targets: ${able.map(({ name }) => name).join(', ')}. Rows: "${rowNames.join('", "')}".`)
  const chosen = able.filter(({ name }) => names.length === 0 || name === bare || names.includes(name))
  if (values.beside === undefined) return chosen
  const programs = buildTargetsBeside(resolve(values.beside))
  const environment = { BENCH_IN_PROCESS: ours }
  return [...chosen, { name: beside, program: join(programs, ours), environment, rows: rowNames }]
}

function chosenRows(): readonly Row[] {
  const chosen = positionals.filter(isRow)
  return chosen.length === 0 ? rowNames : chosen
}

const lowerQuartile = ({ rounds }: Measured) => atPart(rounds, 0.25)
const nameOf = (program: string) => (program === ours ? suite : program)

function isRow(name: string): name is Row {
  return Object.hasOwn(rows, name)
}

const rounded = (value: number, digits: number) => Number(value.toFixed(digits))

void main()
