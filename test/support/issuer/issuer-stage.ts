import { Flow } from '../flows/flow'
import { partOf } from '../flows/jwt-tokens'
import { gallery, job, printApi } from '../flows/resources'
import { startDispatcher } from './dispatcher'
import type { IssuerPlan } from './issuer-process'
import { type IssuerProcess, startIssuer } from './start-issuer'

type StagePlan = Omit<IssuerPlan, 'issuer' | 'clients' | 'ahead'>

/** @param bends what each process has of its own. @param watch sees the path of each request that has passed the dispatcher. */
export async function openIssuerStage(
  shared: StagePlan,
  bends: readonly [Partial<IssuerPlan>, Partial<IssuerPlan>] = [{}, {}],
  watch?: (path: string) => void,
) {
  const dispatcher = await startDispatcher(watch)
  const clients = [gallery.registration, job.registration]
  const own: [Partial<IssuerPlan>, Partial<IssuerPlan>] = [...bends]
  let ahead = 0
  const start = (index: 0 | 1) =>
    startIssuer({ issuer: dispatcher.url, clients, ahead, ...shared, ...own[index] })
  const processes: [IssuerProcess, IssuerProcess] = await Promise.all([start(0), start(1)])
  const lead = () => dispatcher.lead(processes.map(({ url }) => url))
  await lead()
  return {
    issuer: dispatcher.url,
    /** What the dispatcher leads to. */
    flow: new Flow(dispatcher.url),
    processes,
    /** Seconds since the epoch. */
    now: () => Math.floor(Date.now() / 1000) + ahead,
    /** By how many seconds the clocks are ahead of the machine's. */
    ahead: () => ahead,
    async advance(seconds: number) {
      ahead += seconds
      await Promise.all(processes.map((each) => each.setAhead(ahead)))
    },
    /** Kills a process in the middle of whatever it does, and starts another one in its place. */
    async restart(index: 0 | 1) {
      await processes[index].kill()
      processes[index] = await start(index)
      await lead()
    },
    async stop() {
      await Promise.all(processes.map((each) => each.kill()))
      await dispatcher.stop()
    },
  }
}

/** Two processes of one issuer on one database behind a dispatcher, with one time that the test moves. */
export type IssuerStage = Awaited<ReturnType<typeof openIssuerStage>>

/**
 * A token of the job for the print resource. @param path of the server that signs with the algorithm.
 *
 * @returns undefined if no process has answered.
 */
export async function jobToken(flow: Flow, path: string): Promise<string | undefined> {
  const fields = { grant_type: 'client_credentials', scope: 'photos:print', resource: printApi }
  const { status, body, text } = await flow.request(job, fields, path)
  if (status === 502) return undefined
  if (status !== 200) throw new Error(`No token came: ${status} ${text}`)
  return String(body.access_token)
}

/** The key that signed a token. */
export const kidOf = (token: string): string => String(partOf(token, 0)['kid'])
