import type { Request } from 'express'
import { privateState } from '../primitives/private-state'
import type { Client } from '../protocol/client'
import type { Parameters } from '../protocol/parameters'
import type { ServerContext } from '../server/context'
import type { PageLocale } from './pages/texts/locale'

/** The parameter with the languages that the client asks for (OpenID Connect Core 3.1.2.1). */
export const uiLocalesField = 'ui_locales'

const asked = privateState<Request, string | undefined>()

/**
 * Notes the languages that the parameters ask for, for every page that answers the request. Parameters that replace
 * earlier ones do so here, too.
 */
export function noteUiLocales(request: Request, parameters: Parameters): void {
  const value = parameters.peek(uiLocalesField)
  if (value !== asked.get(request)) asked.set(request, value)
}

/** The languages that the request asks for; undefined if it does not say. */
export const uiLocalesOf = (request: Request): string | undefined => asked.get(request)

/** The language of the pages that answer a request. */
export function localeOf({ settings }: ServerContext, request: Request): PageLocale {
  return settings.pageLocales.choose(asked.get(request), request.headers['accept-language'])
}

const clients = privateState<Request, Client>()

/** Notes the client of a request, to which an error page may lead back. */
export const noteClient = (request: Request, client: Client): void => clients.set(request, client)

/** The client of a request; undefined if it is not known. */
export const clientOf = (request: Request): Client | undefined => clients.get(request)
