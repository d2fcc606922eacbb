// Runs in the browser, after the viewer: shows the description of the service that served this page.
const dark = window.matchMedia('(prefers-color-scheme: dark)');
const followTheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', followTheme);
followTheme();
window.SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#description',
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  docExpansion: 'list',
  tryItOutEnabled: true,
  // The badge would be fetched from another origin, with the address of this page in it.
  validatorUrl: null,
});
