import { randomBytes } from 'node:crypto'
import type { Request } from 'express'
import type { OAuth2Req } from 'oauth2orize'
import { client, lifetimes, owner } from '../cast'
import { save, take } from './records'

/** What is kept of a request that waits for its owner. */
interface Kept {
  readonly redirectURI: string
  readonly req: OAuth2Req
}

interface Transaction extends Kept {
  readonly transactionID: string
  readonly client: { readonly id: string }
  readonly user: { readonly id: string }
}

type Done<Value> = (error: unknown, value?: Value) => void

/** A store for oauth2orize, which else needs sessions: one write for the page, and one read that removes for the decision. */
export const transactions = {
  store(_request: Request, { redirectURI, req }: Kept, done: Done<string>): void {
    const id = randomBytes(16).toString('base64url')
    const saved: Kept = { redirectURI, req }
    void save(`transaction:${id}`, saved, lifetimes.code).then(() => done(null, id), done)
  },
  load({ body: { transaction_id: id } }: Request, done: Done<Transaction>): void {
    void take<Kept>(`transaction:${id}`).then((found) => {
      if (!found) return done(new Error('No such transaction'))
      done(null, { ...found, transactionID: id, client: { id: client.id }, user: { id: owner } })
    }, done)
  },
  remove(_request: Request, _id: string, done: Done<void>): void {
    done(null)
  },
}
