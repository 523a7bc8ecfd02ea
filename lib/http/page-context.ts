import type { Request } from 'express'
import { privateState } from '../primitives/private-state'
import type { Client } from '../protocol/client'
import type { Parameters } from '../protocol/parameters'
import type { Edge } from './edge'
import type { PageLocale } from '../pages/texts/locale'

/** OpenID Connect Core 3.1.2.1. */
export const uiLocalesField = 'ui_locales'

const asked = privateState<Request, string | undefined>()

/** Parameters that replace earlier ones do so here, too. */
export function noteUiLocales(request: Request, parameters: Parameters): void {
  const value = parameters.peek(uiLocalesField)
  if (value !== asked.get(request)) asked.set(request, value)
}

export const uiLocalesOf = (request: Request): string | undefined => asked.get(request)

export const localeOf = ({ settings }: Edge, request: Request): PageLocale =>
  settings.pageLocales.choose(asked.get(request), request.headers['accept-language'])

const clients = privateState<Request, Client>()

/** An error page may lead back to this client. */
export const noteClient = (request: Request, client: Client): void => clients.set(request, client)

export const clientOf = (request: Request): Client | undefined => clients.get(request)
