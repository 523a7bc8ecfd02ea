// A host application on the store that STORE_URL names, whose clients are in the store, too.
import express from 'express'
import { createAuthorizationServer } from '../../../lib/index'
import { registeredClients } from '../../../lib/paths/registration'
import { storeFrom } from 'express-authorization-server/stores'
import { canonicalOptions, mountAll } from '../flows/application'
import { photoBook } from '../flows/clients'
import { listenAndPrint } from '../listen-and-print'

/** What the program is told by its only argument. */
export interface NamedStorePlan {
  /** Whether it registers Photo Book. */
  readonly registers: boolean
}

async function serve({ registers }: NamedStorePlan): Promise<void> {
  const store = storeFrom(process.env)
  const clients = registeredClients(store)
  const oauth = createAuthorizationServer({
    ...canonicalOptions,
    store,
    clients,
    rememberConsent: true,
    // A machine under load is not a store in trouble.
    storeDeadline: 10,
  })
  if (registers) await clients.add(photoBook.registration)
  const app = express()
  mountAll(app, oauth)
  const server = listenAndPrint(app)
  process.once('SIGTERM', () => {
    server.close()
    process.stdin.unref()
    void oauth.close()
  })
}

void serve(JSON.parse(process.argv[2] ?? '{}'))
