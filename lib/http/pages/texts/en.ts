import { html } from '../html'
import type { PageTexts } from './texts'

export const en: PageTexts = {
  common: {
    signedInAs: 'Signed in as',
    returnsTo: 'Returns you to',
    appOnDevice: (scheme) => `an app on this device (${scheme})`,
    noAccess: 'No access was given.',
  },
  consent: {
    title: (client) => html`Allow ${client} to access your account?`,
    request: 'wants to access your account',
    requestAt: (service) => html`wants to access your account at ${service}`,
    notYou: 'Not you?',
    unverifiedMark: 'Not verified',
    origin: (host) => html`an app of ${host}`,
    notRegistered: 'This app is not registered here.',
    selfRegistered: 'This app registered itself here.',
    ownClaim: 'Its name is its own claim.',
    certain: (host) => html`All that is certain is that ${host} describes it.`,
    deviceTitle: 'The access goes to a program on this device.',
    device: 'Cancel unless you have just started it yourself.',
    appTitle: 'The access goes to an app on this device.',
    app: 'Another app could take its place. Cancel unless you have just started it yourself.',
    permissions: 'It will be able to',
    noPermission: 'It asks for no particular permission.',
    dangerous: 'Think twice before you allow this',
    allowedBefore: 'You have allowed this already',
    dangerMark: 'Far-reaching',
    writeMark: 'Makes changes',
    optional: 'You may leave out what has a box: the app gets only what you tick.',
    choose: 'Please choose',
    obstacle: 'You cannot allow this now.',
    noAnswer: 'You have nothing here that this app could get access to.',
    manage: (link) => html`You can end the access at any time under ${link}.`,
    manageLink: 'Connected applications',
    facts: { resource: 'Access to' },
    policy: 'Privacy policy',
    terms: 'Terms of service',
    cancel: 'Cancel',
    allow: 'Allow',
  },
  error: {
    refusedTitle: 'This request cannot go on',
    troubleTitle: 'This is not possible right now',
    nothingShared: 'Nothing was shared.',
    reference: 'Reference',
    details: 'Details for the makers of the app:',
    backTo: (client) => html`Back to ${client}`,
    explanations: {
      requestOver: {
        happened: 'This page is too old, or was answered already.',
        advice: 'Go back to the app and start again there.',
      },
      anotherAccount: {
        happened: 'This question was for another account than the one that is signed in now.',
        advice: 'Go back to the app and start again there, with the account that you want to use.',
      },
      notSignedIn: {
        happened: 'You are not signed in any more.',
        advice: 'Go back to the app and start again there. You can then sign in.',
      },
      loginLost: {
        happened: 'Your sign-in did not reach this page.',
        advice: 'Allow cookies for this site, then go back to the app and start again there.',
      },
      appFault: {
        happened: 'The app sent a request that is not right. You have done nothing wrong.',
        advice: 'Tell the makers of the app about it. You can close this page.',
      },
      appUnknown: {
        happened: 'The app is not known here, or is blocked.',
        advice: 'If you trust the app, tell its makers about it. Otherwise, close this page.',
      },
      appUnreachable: {
        happened: 'What the app says about itself could not be read, so it could not be checked.',
        advice: 'Try again in a few minutes. If it happens again, tell the makers of the app.',
      },
      tooMany: {
        happened: 'There were too many attempts in a short time.',
        advice: 'Wait a few minutes, then reload this page.',
      },
      tooManyApps: {
        happened: 'Your account already gives access to as many unregistered apps as it may.',
        advice: 'Remove one that you do not use any more. Then go back to the app and start again there.',
      },
      unavailable: {
        happened: 'Something here does not work at the moment.',
        advice: 'Wait a moment, then reload this page.',
      },
      otherSite: {
        happened: 'Another site sent this answer, and not the page that asked you.',
        advice: 'Close this page. If you wanted to allow access, go back to the app and start again there.',
      },
      incompleteForm: {
        happened: 'Your answer did not arrive as the page asked for it.',
        advice: 'Go back to the page before this one and answer again.',
      },
      unprotected: {
        happened: 'The connection to this page is not encrypted.',
        advice: 'Close this page. Tell the operators of this site about it.',
      },
      other: {
        happened: 'The request cannot be carried out.',
        advice: 'Go back to the app and try again. If it happens again, tell the makers of the app.',
      },
    },
  },
  logout: {
    title: 'Log out?',
    loggedInAs: (owner) => html`You are logged in as ${owner}.`,
    asks: (client) => html`${client} asks to log you out.`,
    stay: 'Stay logged in',
    logOut: 'Log out',
    doneTitle: 'You are logged out',
    done: 'You can close this page.',
    stayedTitle: 'You are still logged in',
    stayed: 'Nothing has changed.',
    backTo: (client) => html`Go back to ${client}`,
  },
  connected: {
    title: 'Connected applications',
    intro: 'These apps can access your account. Remove those that you do not use any more.',
    none: 'No app can access your account.',
    permissions: 'It is able to',
    since: (day) => html`Allowed on ${day}`,
    lastIssued: (day) => html`Last renewed on ${day}`,
    remove: 'Remove',
    removeClient: (client) => html`Remove ${client}`,
    removeTitle: (client) => html`Remove the access of ${client}?`,
    removeConsequence:
      'The app then has to ask you again. What it has already read or changed stays as it is.',
    keep: 'Keep',
    removed: (client) => html`The access of ${client} is removed.`,
    soon: 'It can take a short while until every service takes notice.',
    incomplete:
      'This list may lack apps that you allowed some time ago. They appear when they next renew their access.',
    previous: 'Back',
    next: 'More',
  },
  answered: {
    title: 'You allowed access already',
    done: (client) => html`This is done. Go back to ${client} to go on.`,
    lost: 'If the app asks for access again, your answer was lost on its way: allow it once more.',
    goTo: (host) => html`Go to ${host}`,
  },
  continue: {
    approvedTitle: 'You allowed access',
    refusedTitle: 'No access was given',
    oneStep: (destination) => html`One step is left: go back to ${destination}.`,
    continue: 'Continue',
    linkIsYours: 'The link is yours alone: it holds the access you gave.',
  },
  insecureRedirect: {
    title: 'The way back is not protected',
    unprotected:
      'The app you came from is reached over a connection without encryption. Others on the network can read and change what you send there.',
    unprotectedAccess:
      'The app you came from is reached over a connection without encryption. Others on the network can read and change what you send there, and could use the access that you just allowed.',
    nothingSent: 'Nothing was sent yet.',
    stopAccess: 'To stop here, close this page: the app then gets no access.',
    stop: 'To stop here, close this page: the app then learns nothing.',
    continue: 'Continue without protection',
  },
  unverified: {
    notChecked: 'It came from an app that nobody here has checked.',
    trouble: 'Something here does not work at the moment.',
    tryAgain: 'Wait a moment, then reload this page to try again.',
    careful:
      'Go back only if you have just come from there. Otherwise, close this page: somebody could want to lead you there.',
    goBack: 'Go back to the app',
  },
}
