import express, { type Express, type RequestHandler } from 'express'
import { formOf } from '../../../lib/http/request'
import { OAuthError } from '../../../lib/protocol/oauth-error'

/** An application that answers a form with what formOf makes of it, behind middlewares of the host. */
export function formApp(...before: readonly RequestHandler[]): Express & { readonly outcomes: string[] } {
  const outcomes: string[] = []
  const app = Object.assign(express(), { outcomes })
  const answer: RequestHandler = (request, response, next) => {
    const conclude = (outcome: string) => {
      outcomes.push(outcome)
      if (!response.destroyed) response.send(outcome)
    }
    formOf(request, 10)
      .then((parameters) => `parameters ${parameters.format()}`, wordsOf)
      .then(conclude)
      .catch(next)
  }
  app.post('/', ...before, answer)
  return app
}

const wordsOf = (error: unknown) =>
  error instanceof OAuthError ? `${error.code} ${error.reason}` : `broke: ${String(error)}`
