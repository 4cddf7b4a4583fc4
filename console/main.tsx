/** The first file that the browser runs. */
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import './styles/tokens.css';
import './styles/base.css';
import './styles/frame.css';
import { App } from './app/app.tsx';
import { applyScheme } from './app/scheme.ts';

applyScheme();
const place = document.getElementById('root');
if (place !== null)
  createRoot(place).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
