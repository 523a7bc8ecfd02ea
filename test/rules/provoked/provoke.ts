import { setTimeout as wait } from 'node:timers/promises'
import table from '../../../lib/protocol/refusal-table.json'
import { expectRefused } from '../../../lib/paths/testing'
import type { AuthorizationServerOptions } from '../../../lib/index'
import type { ClientApplication } from '../../support/flows/clients'
import { setStage } from '../../support/flows/stage'
import { withoutLimits } from '../../support/flows/application'

export type Name = keyof typeof table

/** What came over the wire, by supertest or raw. */
interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

/** The smallest request that is refused for the reason. Without an answer, the warning alone is read. */
type Act<Stage> = (stage: Stage) => Promise<Answer | void>

export interface Area {
  readonly title: string
  readonly names: readonly string[]
  /** Resolves to what is wrong, by the name of the row. */
  readonly provoke: (warned: string[]) => Promise<readonly string[]>
}

/** Rows of one area, provoked in order at one stage. */
export function area<Stage>(
  title: string,
  set: () => Stage | Promise<Stage>,
  rows: { readonly [Row in Name]?: Act<Stage> },
): Area {
  const acts = Object.entries(rows)
  const provoke = async (warned: string[]) => {
    const stage = await set()
    const wrong: string[] = []
    for (const [name, act] of acts) {
      warned.length = 0
      const fault = await act(stage)
        .then((answer) => faultOf(name, answer ?? undefined, warned))
        .catch(String)
      if (fault !== undefined) wrong.push(`${name}: ${fault}`)
    }
    return wrong
  }
  return { title, names: acts.map(([name]) => name), provoke }
}

// Told by a warning of its own, or a decision; without explanations, a page has fewer words.
const untold = /^(?:owner_denied|maintenance|closing|tls_required|login_loop$|login_loop\/no_new_login$)/

async function faultOf(name: string, answer: Answer | undefined, warned: readonly string[]) {
  const row = Object.entries(table).find(([one]) => one === name)?.[1]
  if (row === undefined) return 'not in the table'
  const [reason = ''] = name.split('/')
  if (answer !== undefined) {
    expectRefused({ body: undefined, ...answer }, reason)
    const words = row.words.split(/\{\w+\}/)
    const said = saidBy(answer)
    const isForm = answer.text.includes('name="user_code"')
    if (!isForm && !words.every((part) => said.includes(part))) return `it says ${said.slice(0, 300)}`
    if ('status' in row && row.status !== answer.status) return `its status is ${answer.status}`
  }
  if (untold.test(name)) return answer === undefined ? 'no answer came' : undefined
  const refusal = `${row.error === '' ? '' : `${row.error}, `}${reason}. `
  const explains = (text: string) =>
    text.startsWith('A request')
      ? text.includes(`): ${refusal}`) && text.includes(` ${sentencesOf(row).join(' ')} See `)
      : text.startsWith(`${reason}: `) && text.includes(` ${sentencesOf(row).at(-1)} Listen for 'failure'`)
  for (let turn = 0; turn < 30 && !warned.some(explains); turn++) await wait(turn)
  return warned.some(explains) ? undefined : `not explained: ${warned.join(' | ') || 'no warning'}`
}

/** The rule of a row, and its cure. */
export const sentencesOf = ({ rule, cure }: { readonly rule: string; readonly cure?: string }) =>
  cure === undefined ? [rule] : [rule, cure]

/** The words of an answer, from its JSON, its redirect or its page. */
function saidBy({ headers, text }: Answer): string {
  const [, query = ''] = String(headers['location'] ?? '').split(/[?#](.*)/s)
  const described = new URLSearchParams(query).get('error_description') ?? ''
  return described + text.replaceAll('&#39;', "'").replaceAll('&quot;', '"')
}

/** A server whose failures nobody listens to, so that it warns of them. */
export function open(...[options, hosting]: Parameters<typeof setStage>) {
  const set = setStage({ ...withoutLimits, ...options }, hosting)
  set.oauth.events.removeAllListeners('failure')
  return { ...set, now: () => Math.floor(set.clock.read() / 1000) }
}

export type Opened = ReturnType<typeof open>
export type Options = Partial<AuthorizationServerOptions>

export const registered = (...clients: readonly ClientApplication[]) =>
  clients.map(({ registration }) => registration)

export const grant = { grant_type: 'client_credentials', scope: 'photos:read' }

export const once = { attempts: 1 }

/** The answer to the second of two equal requests. */
export async function twice<Answered>(call: () => Promise<Answered>): Promise<Answered> {
  await call()
  return call()
}

/** Does something in place of the next write of an authorization. */
export function atNextSave({ store }: Opened, act: (save: () => Promise<boolean>) => Promise<boolean>): void {
  const { write } = store
  store.write = (key, ...words) => {
    const save = () => write(key, ...words)
    if (!key.startsWith('authorization:')) return save()
    store.write = write
    return act(save)
  }
}
