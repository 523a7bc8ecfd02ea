import { html } from '../html'
import type { PageTexts } from './texts'

export const es: PageTexts = {
  common: {
    signedInAs: 'Sesión iniciada como',
    returnsTo: 'Vuelve a',
    appOnDevice: (scheme) => `una aplicación de este dispositivo (${scheme})`,
    noAccess: 'No se ha concedido ningún acceso.',
  },
  consent: {
    title: (client) => html`¿Permitir que ${client} acceda a su cuenta?`,
    request: 'quiere acceder a su cuenta',
    requestAt: (service) => html`quiere acceder a su cuenta de ${service}`,
    notYou: '¿No es usted?',
    unverifiedMark: 'Sin verificar',
    origin: (host) => html`una aplicación de ${host}`,
    notRegistered: 'Esta aplicación no está registrada aquí.',
    selfRegistered: 'Esta aplicación se ha registrado aquí por sí misma.',
    ownClaim: 'Ella misma ha elegido su nombre.',
    certain: (host) => html`Lo único seguro es que ${host} la describe.`,
    deviceTitle: 'El acceso se entrega a un programa de este dispositivo.',
    device: 'Cancele si no acaba de abrirlo usted.',
    appTitle: 'El acceso se entrega a una aplicación de este dispositivo.',
    app: 'Otra aplicación podría ocupar su lugar. Cancele si no acaba de abrirla usted.',
    permissions: 'Podrá',
    noPermission: 'No pide ningún permiso en particular.',
    dangerous: 'Piénselo bien antes de permitir esto',
    allowedBefore: 'Ya ha permitido esto',
    dangerMark: 'De gran alcance',
    writeMark: 'Hace cambios',
    optional: 'Puede omitir lo que tiene una casilla: la aplicación solo recibe lo que usted marque.',
    choose: 'Elija una opción',
    obstacle: 'No puede permitir este acceso por ahora.',
    noAnswer: 'Aquí no tiene nada a lo que esta aplicación pueda acceder.',
    manage: (link) => html`Puede poner fin al acceso en cualquier momento en ${link}.`,
    manageLink: 'Aplicaciones conectadas',
    facts: { resource: 'Acceso a', claims: 'Datos sobre usted' },
    policy: 'Política de privacidad',
    terms: 'Condiciones del servicio',
    cancel: 'Cancelar',
    allow: 'Permitir',
  },
  error: {
    refusedTitle: 'Esta solicitud no puede continuar',
    troubleTitle: 'Esto no es posible en este momento',
    nothingShared: 'No se ha compartido nada.',
    reference: 'Referencia',
    details: 'Detalles para los autores de la aplicación:',
    backTo: (client) => html`Volver a ${client}`,
    explanations: {
      requestOver: {
        happened: 'Esta página es demasiado antigua o ya se ha respondido.',
        advice: 'Vuelva a la aplicación y empiece de nuevo.',
      },
      anotherAccount: {
        happened: 'Esta pregunta era para una cuenta distinta de la que tiene ahora la sesión iniciada.',
        advice: 'Vuelva a la aplicación y empiece de nuevo con la cuenta que quiera usar.',
      },
      notSignedIn: {
        happened: 'Su sesión ya no está iniciada.',
        advice: 'Vuelva a la aplicación y empiece de nuevo. Entonces podrá iniciar sesión.',
      },
      loginLost: {
        happened: 'Su inicio de sesión no ha llegado a esta página.',
        advice: 'Permita las cookies de este sitio, vuelva a la aplicación y empiece de nuevo.',
      },
      appFault: {
        happened: 'La aplicación ha enviado una solicitud incorrecta. Usted no ha hecho nada mal.',
        advice: 'Informe a los autores de la aplicación. Puede cerrar esta página.',
      },
      appUnknown: {
        happened: 'La aplicación no se conoce aquí o está bloqueada.',
        advice: 'Si confía en ella, informe a sus autores. Si no, cierre esta página.',
      },
      appUnreachable: {
        happened:
          'No se ha podido leer lo que la aplicación dice de sí misma, así que no se ha podido comprobar.',
        advice:
          'Inténtelo de nuevo dentro de unos minutos. Si vuelve a ocurrir, informe a los autores de la aplicación.',
      },
      tooMany: {
        happened: 'Ha habido demasiados intentos en poco tiempo.',
        advice: 'Espere unos minutos y vuelva a cargar esta página.',
      },
      tooManyApps: {
        happened: 'Su cuenta ya da acceso a tantas aplicaciones no registradas como puede.',
        advice: 'Elimine una que ya no use. Después, vuelva a la aplicación y empiece de nuevo.',
      },
      unavailable: {
        happened: 'Algo no funciona aquí en este momento.',
        advice: 'Espere un momento y vuelva a cargar esta página.',
      },
      otherSite: {
        happened: 'Esta respuesta viene de otro sitio y no de la página que le ha preguntado.',
        advice:
          'Cierre esta página. Si quería permitir un acceso, vuelva a la aplicación y empiece de nuevo.',
      },
      incompleteForm: {
        happened: 'Su respuesta no ha llegado como la página la esperaba.',
        advice: 'Vuelva a la página anterior y responda de nuevo.',
      },
      unprotected: {
        happened: 'La conexión con esta página no está cifrada.',
        advice: 'Cierre esta página. Informe a los responsables de este sitio.',
      },
      other: {
        happened: 'No se puede llevar a cabo la solicitud.',
        advice:
          'Vuelva a la aplicación e inténtelo de nuevo. Si vuelve a ocurrir, informe a los autores de la aplicación.',
      },
    },
  },
  logout: {
    title: '¿Cerrar la sesión?',
    loggedInAs: (owner) => html`Ha iniciado sesión como ${owner}.`,
    asks: (client) => html`${client} pide que se cierre su sesión.`,
    stay: 'Mantener la sesión',
    logOut: 'Cerrar la sesión',
    doneTitle: 'Su sesión está cerrada',
    done: 'Puede cerrar esta página.',
    stayedTitle: 'Su sesión sigue iniciada',
    stayed: 'No ha cambiado nada.',
    backTo: (client) => html`Volver a ${client}`,
  },
  connected: {
    title: 'Aplicaciones conectadas',
    intro: 'Estas aplicaciones pueden acceder a su cuenta. Elimine las que ya no use.',
    none: 'Ninguna aplicación puede acceder a su cuenta.',
    permissions: 'Puede',
    since: (day) => html`Permitida el ${day}`,
    lastIssued: (day) => html`Última renovación: ${day}`,
    remove: 'Eliminar',
    removeClient: (client) => html`Eliminar ${client}`,
    removeTitle: (client) => html`¿Eliminar el acceso de ${client}?`,
    removeConsequence:
      'La aplicación tendrá entonces que volver a preguntarle. Lo que ya ha leído o cambiado se queda como está.',
    keep: 'Conservar',
    removed: (client) => html`El acceso de ${client} está eliminado.`,
    soon: 'Puede pasar un breve tiempo hasta que todos los servicios lo tengan en cuenta.',
    incomplete:
      'En esta lista pueden faltar aplicaciones que permitió hace tiempo. Aparecerán la próxima vez que renueven su acceso.',
    previous: 'Atrás',
    next: 'Más',
  },
  device: {
    title: 'Conectar un dispositivo',
    intro: 'Introduzca el código que muestra su dispositivo.',
    fromLink:
      'Un enlace ha traído este código. Continúe solo si su propio dispositivo muestra ahora el mismo código.',
    code: 'Código',
    next: 'Continuar',
    unknown:
      'Este código no se conoce aquí, ha caducado o ya se ha usado. Compárelo con su dispositivo, o empiece allí de nuevo.',
    tooMany: 'Ha habido demasiados códigos erróneos. Espere unos minutos y vuelva a intentarlo.',
    warningTitle: '¿Alguien le ha enviado este código o enlace?',
    warning:
      'Entonces deténgase aquí: esa persona quiere acceder a su cuenta. Continúe solo con el código de un dispositivo que tenga delante y que usted mismo acabe de iniciar.',
    request: 'quiere acceder a su cuenta desde otro dispositivo',
    requestedFrom: 'Solicitado desde',
    requestedAt: 'Solicitado',
    approvedTitle: 'Su dispositivo tiene acceso',
    approved: (client) => html`Vuelva a su dispositivo: ${client} continúa allí.`,
    deniedTitle: 'El dispositivo no ha recibido acceso',
    denied: 'Puede cerrar esta página.',
  },
  answered: {
    title: 'Ya ha permitido el acceso',
    done: (client) => html`Está hecho. Vuelva a ${client} para continuar.`,
    lost: 'Si la aplicación vuelve a pedir acceso, su respuesta se ha perdido por el camino: permítalo una vez más.',
    goTo: (host) => html`Ir a ${host}`,
  },
  continue: {
    approvedTitle: 'Ha permitido el acceso',
    refusedTitle: 'No se ha concedido ningún acceso',
    oneStep: (destination) => html`Falta un paso: vuelva a ${destination}.`,
    continue: 'Continuar',
    linkIsYours: 'El enlace es solo para usted: contiene el acceso que ha concedido.',
  },
  insecureRedirect: {
    title: 'El camino de vuelta no está protegido',
    unprotected:
      'La aplicación de la que viene usa una conexión sin cifrar. Otras personas en la red pueden leer y cambiar lo que envíe allí.',
    unprotectedAccess:
      'La aplicación de la que viene usa una conexión sin cifrar. Otras personas en la red pueden leer y cambiar lo que envíe allí, y podrían usar el acceso que acaba de permitir.',
    nothingSent: 'Todavía no se ha enviado nada.',
    stopAccess: 'Para detenerse aquí, cierre esta página: la aplicación no obtiene entonces ningún acceso.',
    stop: 'Para detenerse aquí, cierre esta página: la aplicación no se entera entonces de nada.',
    continue: 'Continuar sin protección',
  },
  unverified: {
    notChecked: 'Viene de una aplicación que nadie ha comprobado aquí.',
    trouble: 'Algo no funciona aquí en este momento.',
    tryAgain: 'Espere un momento y vuelva a cargar esta página para intentarlo de nuevo.',
    careful:
      'Vuelva solo si acaba de venir de allí. Si no, cierre esta página: alguien podría querer llevarle hasta allí.',
    goBack: 'Volver a la aplicación',
  },
}
