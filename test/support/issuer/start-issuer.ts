import { join } from 'node:path'
import type { ListedKey } from '../../../lib/index'
import { Flow } from '../flows/flow'
import { startProgram } from '../start-program'
import type { IssuerPlan } from './issuer-process'

/** An issuer of access tokens in a process of its own, and its operator. */
export interface IssuerProcess {
  readonly url: string
  readonly flow: Flow
  /** Sets its clock ahead of the machine's by so many seconds. */
  setAhead(seconds: number): Promise<void>
  keys(): Promise<readonly ListedKey[]>
  rotate(): Promise<readonly ListedKey[]>
  retire(kid: string): Promise<readonly ListedKey[]>
  isAlive(): boolean
  /** Kills it in the middle of whatever it does. */
  kill(): Promise<void>
}

export async function startIssuer(plan: IssuerPlan): Promise<IssuerProcess> {
  const { url, isAlive, kill } = await startProgram(join(__dirname, 'issuer-process.ts'), plan)
  const flow = new Flow(url)
  const operate = async (path: string): Promise<readonly ListedKey[]> => {
    const { status, body, text } = await flow.submit(`/operator/${path}`, {})
    if (status !== 200) throw new Error(`The operator got ${status}: ${text}`)
    return body
  }
  return {
    url,
    flow,
    setAhead: async (seconds) => void (await operate(`ahead/${seconds}`)),
    keys: async () => (await flow.open('/operator/keys')).body,
    rotate: () => operate('rotate'),
    retire: (kid) => operate(`retire/${kid}`),
    isAlive,
    kill,
  }
}
