import { randomInt } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { report } from '../../support/reliability/report'
import { randomFrom } from './random'
import { Recorder } from './recorder'
import { repeatedRedemptions } from './repeated-redemptions'
import { SingleStage } from './single-stage'
import { startServers } from './trial'

const rounds = 50
const codesOfRound = 20
/** Milliseconds over which the redemptions of a round are spread; the cut is at any time of them. */
const spread = 100

/**
 * Redeems codes while the connections to Redis are cut between command and reply, and repeats each redemption that met
 * trouble, as a client does. Counts the codes that the first attempt had spent. FAULTS_SEED repeats a run, as far as
 * chance allows it.
 */
async function main(): Promise<void> {
  const seed = Number(process.env['FAULTS_SEED'] ?? randomInt(1_000_000))
  const random = randomFrom(seed)
  process.stdout.write(`seed ${seed}\n`)
  const stage = await SingleStage.start()
  const servers = await startServers(stage.plan)
  const [first, second, guarding] = servers
  const recorder = new Recorder([first.url, second.url], guarding.url)
  const granted = async (act: 'ask' | 'decide', line: number, presented: string): Promise<string> => {
    for (;;) {
      const answer = await recorder.attempt(line, line, act, presented)
      if (answer.kind === 'granted') return answer.credentials[0] ?? ''
      await setTimeout(20)
    }
  }
  const redeem = async (line: number, code: string): Promise<void> => {
    await setTimeout(random() * spread)
    while ((await recorder.attempt(line, line, 'redeem', code)).kind === 'trouble') await setTimeout(500)
  }
  try {
    for (let round = 0; round < rounds; round++) {
      const codes: { readonly line: number; readonly code: string }[] = []
      for (let index = 0; index < codesOfRound; index++) {
        const line = recorder.newLine()
        codes.push({ line, code: await granted('decide', line, await granted('ask', line, '')) })
      }
      const redemptions = Promise.all(codes.map(({ line, code }) => redeem(line, code)))
      await setTimeout(random() * spread)
      stage.network.loseReplies(Infinity)
      stage.network.refuse(true)
      await setTimeout(1500)
      stage.network.loseReplies(0)
      stage.network.refuse(false)
      await redemptions
    }
  } finally {
    recorder.close()
    await Promise.all(servers.map((server) => server.kill()))
    await stage.stop()
  }
  const { codes, ended } = repeatedRedemptions(recorder.attempts)
  const troubled = `${codes} codes met temporarily_unavailable and were presented again`
  const result = `${troubled}; ${ended} of them had been spent, and their authorizations ended`
  process.stdout.write(`${rounds * codesOfRound} codes: ${result}\n`)
  report(
    'redemptions',
    'RELIABILITY_REPORT=1 node -r esbuild-register test/campaign/faults/cut-redemptions.ts',
    [
      {
        case: `connections cut between command and reply, ${rounds} times, while ${codesOfRound} codes are redeemed within 0.1 s`,
        rounds: rounds * codesOfRound,
        invariant: 'measured, not judged',
        result,
      },
    ],
  )
}

void main()
