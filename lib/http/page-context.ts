import type { Request } from 'express'
import type { Parameters } from '../protocol/parameters'
import type { Edge } from './edge'
import type { PageLocale } from '../pages/texts/locale'

/** OpenID Connect Core 3.1.2.1. */
export const uiLocalesField = 'ui_locales'

/** Parameters that replace earlier ones do so here, too. */
export function noteUiLocales({ contexts }: Edge, request: Request, parameters: Parameters): void {
  contexts.of(request).uiLocales = parameters.peek(uiLocalesField)
}

export const localeOf = ({ settings, contexts }: Edge, request: Request): PageLocale =>
  settings.pageLocales.choose(contexts.of(request).uiLocales, request.headers['accept-language'])
