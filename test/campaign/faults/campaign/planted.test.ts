import { extent } from '../../../support/extent'
import { plansFrom, type Topology } from './plan'
import type { Planted } from './run'
import { CampaignRunner } from './campaign-runner'

// In milliseconds. Nothing here is judged by its speed, so the whole takes as long as the machine needs.
const unhurried = 10 * 60_000
// Seconds: less than for a sound process, which serves again soon.
const recovery = 3
const mostRuns = 15

interface Case {
  readonly title: string
  readonly planted: Planted
  readonly topology: Topology
  readonly seed: number
  /** One of the rules that it breaks. */
  readonly breaks: RegExp
}

const inEveryRun: readonly Case[] = [
  {
    title: 'a save that takes any expected revision',
    planted: { defect: 'a save that takes any expected revision' },
    topology: 'single',
    seed: 1,
    breaks: /won twice/,
  },
  {
    title: 'a failure that reads as an absent record',
    planted: { defect: 'a failure that reads as an absent record' },
    topology: 'single',
    seed: 26,
    breaks: /an acknowledged credential was lost/,
  },
]

const inLongRuns: readonly Case[] = [
  {
    title: 'a refresh that does not rotate',
    planted: { defect: 'a refresh that does not rotate' },
    topology: 'single',
    seed: 1,
    breaks: /an acknowledged credential was lost|a refresh generation won twice/,
  },
  {
    title: 'a removal of a registration that does nothing',
    planted: { defect: 'a removal of a registration that only pretends' },
    topology: 'single',
    seed: 1,
    breaks: /a revoked credential was accepted \((?:configure|authenticate)/,
  },
  {
    title: 'a removal that does nothing',
    planted: { defect: 'a remove that does nothing' },
    topology: 'single',
    seed: 1,
    breaks: /a revoked credential was accepted/,
  },
  {
    title: 'a failure that nothing awaits',
    planted: { defect: 'a failure that nothing awaits' },
    topology: 'single',
    seed: 16,
    breaks: /has died/,
  },
  {
    title: 'creates that are never refused',
    planted: { connection: 'creates that are never refused' },
    topology: 'single',
    seed: 1,
    breaks: /a revoked credential was accepted|won twice|was answered twice/,
  },
  {
    title: 'writes that wait for no replica',
    planted: { waitsForNothing: true },
    topology: 'replicated',
    seed: 26,
    breaks:
      /an acknowledged credential was lost|a revoked credential was accepted \((?:guard|refresh)|won twice/,
  },
]

describe(`The campaign finds within ${mostRuns} runs`, () => {
  const runner = new CampaignRunner()
  afterAll(() => runner.close())

  /** The first broken invariant of this kind; else all. */
  async function brokenBy({ planted, topology, seed }: Omit<Case, 'breaks'>, kind: RegExp): Promise<string> {
    const all: string[] = []
    for (const plan of plansFrom({ seed, runs: mostRuns, topology })) {
      const { broken } = await runner.play(plan, { planted, recovery })
      const shown = broken.find((each) => kind.test(each))
      if (shown !== undefined) return shown
      all.push(...broken)
    }
    return all.join('\n')
  }

  test.each(extent(inEveryRun, [...inEveryRun, ...inLongRuns]))(
    '$title',
    async ({ breaks, ...each }) => {
      expect(await brokenBy(each, breaks)).toMatch(breaks)
    },
    unhurried,
  )
})
